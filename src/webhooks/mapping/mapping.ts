/**
 * A JSON pointer (RFC 6901), or several of which the first counts that leads to a value: a text that is not blank, a number,
 * or a list that begins with one. It starts from the event; with a `^` in front from the whole body, which matters where one
 * body has several events: `^/commonLabels/severity`.
 */
export type Pointers = string | readonly string[];

/**
 * Pointers, of which several in a list of their own belong together: such a list counts when each of its pointers leads to a
 * value, and gives all of them. `[["/rule", "/host"], "/rule"]` is "rule - host" where the event names a host.
 */
export type JoinedPointers = string | readonly Pointers[];

/** Where the parts of an incident are in an event of a source. One of title, severity, event_id and type at least is needed. */
export interface Mapping {
  /**
   * To lists whose members are events of their own, from the body. The members of all of these lists count, so that none is
   * lost; where no pointer leads to a list with members, the first object that one leads to is the only event.
   */
  readonly items?: Pointers;
  readonly title?: JoinedPointers;
  readonly severity?: Pointers;
  /** What tells one event from every other, and is the same when the sender repeats or updates it. */
  readonly event_id?: JoinedPointers;
  /** To the tool's category, tactic, rule: every one that is there is looked at. */
  readonly type?: Pointers;
  /** Names of the incident's `fields`, such as `sender`, and where their values are. */
  readonly lift?: Readonly<Record<string, Pointers>>;
}
