import type { Ports } from './ports.ts'

/** Waits for the work. After `ms` milliseconds, returns (or throws) the result of `onTimeout` instead. */
export async function withTimeout<T, L>(
  work: Promise<T>,
  ms: number,
  ports: Pick<Ports, 'setTimer'>,
  onTimeout: () => L,
): Promise<T | L> {
  let clearTimer: (() => void) | undefined
  const passed = new Promise<void>((resolve) => {
    clearTimer = ports.setTimer(resolve, ms)
  }).then(onTimeout)
  return await Promise.race([work, passed]).finally(clearTimer)
}
