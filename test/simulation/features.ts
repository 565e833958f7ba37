// Options that older versions of the framework lack: the simulator uses them where they are.
import { LlmAgent, Runner } from 'toolwright'

/** Does `Runner` bound arguments and the calls of one reply? */
export const hasArgsLimits: boolean = (() => {
  const agent = new LlmAgent({ name: 'a', model: { name: 'm', async *generate() {} } })
  const isTaken = (maxArgsBytes: number): boolean => {
    try {
      return Boolean(new Runner({ appName: 'probe', agent, ...{ maxArgsBytes } }))
    } catch {
      return false
    }
  }
  return isTaken(1) && !isTaken(0)
})()
