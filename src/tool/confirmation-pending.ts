/** Thrown in a body that asked for a yes: it goes no further, and is run from the start once somebody has said yes. */
export class ConfirmationPending extends Error {
  override readonly name: string = 'Unanswered'

  constructor(hint: string) {
    super(`The call waits here until somebody has said yes to: ${hint}`)
  }
}
