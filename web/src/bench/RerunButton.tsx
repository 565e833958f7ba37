import type { JSX } from 'preact'
import type { CallView } from '../../../src/core/event/views/views.ts'
import { navigate } from '../state/route.ts'
import { type Signal, signal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'

/** A call to make again. */
export type CallToRepeat = Pick<CallView, 'agent' | 'name' | 'args'>

/** The call that the tool bench shows next. */
export const callToRepeat: Signal<CallToRepeat | undefined> = signal<CallToRepeat | undefined>(undefined)

/** Opens the tool bench with a call, to run it again. */
export function RerunButton({ app, call }: { readonly app: string; readonly call: CallView }): JSX.Element {
  const open = (): void => {
    callToRepeat.set({ ...call, args: call.changedArgs ?? call.args })
    navigate({ view: 'bench', app })
  }
  return <Button class="small" icon="retry" kind="plain" label="Open this call in the tool bench" onClick={open} />
}
