/** A promise that was not kept, and how. P1 to P7, P10 and P11 as in the promises of the house; liveness: everything ends. */
export interface Violation {
  readonly promise: 'P1' | 'P2' | 'P3' | 'P4' | 'P5' | 'P6' | 'P7' | 'P10' | 'P11' | 'liveness'
  readonly says: string
}
