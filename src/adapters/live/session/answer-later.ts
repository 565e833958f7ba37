import type { ConfirmationProvider } from '../../../engine/runner/approvals/confirmation-provider.ts'

/**
 * A `confirmationProvider` that leaves gated calls open. `session.answer()` answers them, or any runner with the same store.
 *
 * @example
 * const session = await connectLive({ agent, model, confirmationProvider: answerLater })
 * for await (const event of session) if (event.type === 'request') await session.answer(approve(event.request))
 */
export const answerLater: ConfirmationProvider = () => new Promise(() => {})
