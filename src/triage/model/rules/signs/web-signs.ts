/** What is done to web servers, in the words of the tools that guard them. */
export const WEB_SIGNS = {
  web_attack: `
    sql injection | sqli | path traversal | directory traversal | command injection |
    code injection | remote code execution | file inclusion | cross site scripting | xss |
    log4shell | jndi | server side request forgery | ssrf | template injection | xxe |
    insecure deserialization | unsafe deserialization | shellshock | rce`,
} as const;
