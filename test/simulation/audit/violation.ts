/**
 * A broken promise. Each file of this folder states its promise in the first line. `liveness`: all work ends. `views`: what the
 * product reads from a log is what the log says.
 */
export interface Violation {
  readonly promise: 'P1' | 'P2' | 'P3' | 'P4' | 'P5' | 'P6' | 'P7' | 'P10' | 'P11' | 'liveness' | 'views'
  readonly says: string
}
