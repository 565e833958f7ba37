/** What differs between the calls of a text model, which waits for its results, and those of a live model, which speaks on. */
export interface BatchRules {
  /** How long a result waits for slower calls of its batch, in milliseconds. After it, the result is recorded alone. */
  readonly siblingWaitMs: number
  /** Does a transfer, or another end of the turn, close the calls that still wait? */
  readonly closesCallsOnTurnEnd: boolean
  /** Does an equal call that failed too often in a row end the run? */
  readonly stopsOnRepeat: boolean
  /** May a call start that a live model made? Its phase and `onToolCall` decide, and only a live session asks them. */
  readonly startsLiveCalls: boolean
}

/** The rules of a text run, and of everything inside agent tools. */
export const TEXT_RULES: BatchRules = {
  siblingWaitMs: 1_000,
  closesCallsOnTurnEnd: true,
  stopsOnRepeat: true,
  startsLiveCalls: false,
}

/** The rules of the calls of a live model. */
export const LIVE_RULES: BatchRules = {
  siblingWaitMs: 20, // the user hears the wait
  closesCallsOnTurnEnd: false, // an agent that transfers leaves its calls running
  stopsOnRepeat: false, // the user can intervene
  startsLiveCalls: true,
}
