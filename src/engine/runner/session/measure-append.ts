import type { RunServices } from '../run-services.ts'

/** Measures how long the store takes for an append, and calls `onAppended` if it has not failed. */
export function measureAppend(
  { observation, ports }: Pick<RunServices, 'observation' | 'ports'>,
  appended: Promise<unknown>,
  onAppended: () => void,
): void {
  const startedAt = ports.monotonicNow()
  const measure = (): void => {
    observation?.measure({ type: 'append', seconds: (ports.monotonicNow() - startedAt) / 1000 })
    onAppended()
  }
  appended.then(measure, () => {}) // the caller reports a failure
}
