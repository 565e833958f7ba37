/** Stops a tool body at `requestConfirmation()`. The body runs again from the start after the approval. */
export class ConfirmationPending extends Error {
  /** The name in stack traces. */
  override readonly name: string = 'ConfirmationPending'

  constructor(hint: string) {
    super(`The call is paused until an approver confirms: ${hint}`)
  }
}
