import type { Ports } from './ports.ts'

/** What the work gives; after `ms` what `late` gives or throws, and the work is no longer waited for. */
export async function withTimeout<T, L>(
  work: Promise<T>,
  ms: number,
  ports: Pick<Ports, 'setTimer'>,
  late: () => L,
): Promise<T | L> {
  let forget: (() => void) | undefined
  const passed = new Promise<void>((resolve) => {
    forget = ports.setTimer(resolve, ms)
  }).then(late)
  return await Promise.race([work, passed]).finally(forget)
}
