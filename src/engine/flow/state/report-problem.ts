/**
 * Reports a problem in the code of the developer, such as a hook that throws. The live session continues. `error` is the
 * thrown value, if there is one.
 */
export type ReportProblem = (problem: string, error: unknown) => void
