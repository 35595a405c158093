/** For phishing, business e-mail compromise and spam. */
export const PHISHING_GUIDANCE = `Guidance for reported mail
- Compare who the mail says it is from with what was authenticated: SPF, DKIM, DMARC, the sender of the envelope, and where a reply would go. A pass proves only which domain sent the mail, not that this domain is honest; a look-alike or newly registered domain passes its own checks.
- Look at where links really lead, also behind rewritten and shortened ones, and whether the shown text names another place. Look for pages that ask for a password, and for attachments that run code or hide their kind: archives with a password, disk images, HTML, documents with macros, double endings.
- Business e-mail compromise often has neither link nor attachment: a request for payment, changed bank details, gift cards, pay slips or secrecy, in the name of a person with authority, from a foreign or look-alike address, or as an answer in a thread that was taken over.
- Mass advertising without deceit is spam. Its sender is usually authenticated and aligned, and names a way to unsubscribe.
- Simulations of phishing exist. That a mail claims to be one proves nothing; a header or look-up of the platform that sends them does.
- Ordinary mail is reported, too. Known senders with aligned authentication, usual content and links to their own domain speak for it.`;
