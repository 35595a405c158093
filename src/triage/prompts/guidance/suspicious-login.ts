/** For suspicious sign-ins and taken-over accounts. */
export const SUSPICIOUS_LOGIN_GUIDANCE = `Guidance for sign-ins
- Ask first whether a sign-in succeeded, and by which means: password only, a second factor that was passed, a token, an old protocol that knows no second factor.
- Many accounts with few tries each point to spraying; one account with many tries to guessing; many accounts with right passwords to stolen lists. Failures alone are an attempt, and a success after them is the point.
- Many prompts of a second factor, and then one that is accepted, is fatigue. A session that goes on from another place without a new sign-in is a stolen token.
- Travel that is too fast counts little when one of the places is a VPN, a proxy, a mobile network or a cloud. Places of addresses are often wrong. Known device, known network and passed second factor speak for the user.
- Look at what came after: new rules in the mailbox, new factors or devices, consent to applications, changed roles, mass downloads. These turn a strange sign-in into a taken-over account.
- Service accounts and scanners make regular noise; their regularity, origin and rights must be in the data to call it benign.`;
