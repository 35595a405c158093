/** For every other kind of incident. */
export const GENERIC_GUIDANCE = `Guidance for incidents of other kinds
- Say first what the data is about: who did what, from where, to what, when, and which product says so.
- Tell what a product measured from what it or somebody else concluded, and both from what the suspected party wrote.
- Ask whether the activity succeeded, whether it goes on, and which account or machine has to be looked at.
- Compare with what is usual for that user, machine or time as far as the data shows it.
- For data that left: how much, of what kind, to whom, and whether that way is a usual one. For breaches of a rule: which rule, and whether there is more than a mistake.
- Where the kind of incident does not fit the data, judge the data.`;
