/** The stop reason of a run that its caller, its consumer or the runner cancelled. */
export class Cancelled extends Error {
  /** The class name. */
  override readonly name: string = 'Cancelled'
}
