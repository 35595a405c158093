/*
 * What a tool writes about itself and not about the event: its console, its ids. All names are as plainName writes them.
 */

/** Keys whose link opens the tool's own console. */
const CONSOLE_LINK =
  /^(?:threaturl|falconhostlink|(?:alert|incident|case|event|finding|detection)(?:web)?(?:url|link)|(?:results|dashboard|console|portal|details?|alertdetails|runbook|silence|generator|panel|external|permanent|perma|html|deep)(?:url|link)|dashboard|console|permalink|generatoruri)$/;

/** Whether the link under this key opens the tool's console: it is no link of the mail or of the event. */
export const isConsoleLink = (name: string): boolean => CONSOLE_LINK.test(name);

/** Parts of a mail that are its own text. Gateways list them beside attachments and give them these names. */
const BODY_PART =
  /^(?:text|body|part|message|unnamed|untitled|mime)[-_. ]?\d{0,3}\.(?:html?|txt|plain)$/i;

/** Whether a file is the text of the mail itself, by the name that gateways give to it. */
export const isBodyPart = (name: string): boolean => BODY_PART.test(name.trim());
