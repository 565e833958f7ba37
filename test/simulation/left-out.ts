/**
 * What the generator does not make: each would break a promise that is known to be broken there. Take an entry out when its cure is
 * in; what it stood for is then simulated like everything else.
 */
export const leftOut = {
  /** Agents that work beside each other and name their calls alike. */
  sharedIds: true,
  /** Text while a long-running call is out, so that two invocations of a session are unfinished at a time. */
  twoUnfinished: true,
  /** Agents called from code. */
  agentsFromCode: true,
  /** Several calls of one piece of code at the same time. */
  callsAtOnceFromCode: true,
  /** The same call failing again and again, until that ends the run. */
  repeatedFailures: true,
} as const
