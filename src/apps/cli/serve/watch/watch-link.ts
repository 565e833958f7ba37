import { isRecord } from '../../../../core/base/json.ts'
import { isToolwrightFile } from '../../../infer/functions/toolwright-types.ts'
import type { ParentProcess } from '../../terminal.ts'
import type { WatchReport } from './watch-messages.ts'

/** The connection of a server to the process that watches its files. */
export interface WatchLink {
  /** The token of the server, unless `TOOLWRIGHT_TOKEN` is set. */
  readonly token: string
  /** The port of the earlier servers; undefined for the first one. */
  readonly port: number | undefined
  /** Resolves when the server must end: with `restart` at once, with `stop` as after a signal. */
  readonly ended: Promise<'restart' | 'stop'>
  /** Called with each file that the agent files need. */
  onFile(file: string): void
  /** Tells how far the server is. */
  report(report: WatchReport): void
}

/** Waits for the first message of the watching process. The server also ends when that process does. */
export function connectToWatcher(parent: ParentProcess): Promise<WatchLink> {
  const { promise: ended, resolve: end } = Promise.withResolvers<'restart' | 'stop'>()
  const report = (message: WatchReport): void => void parent.send?.(message)
  const onFile = (file: string): void => {
    if (!/[\\/]node_modules[\\/]/.test(file) && !isToolwrightFile(file)) report({ type: 'file', file })
  }
  parent.on('disconnect', () => end('stop'))
  return new Promise((resolve) => {
    parent.on('message', (message) => {
      if (!isRecord(message)) return
      if (message.type === 'restart' || message.type === 'stop') end(message.type)
      if (message.type !== 'start' || typeof message.token !== 'string') return
      parent.channel?.unref() // Node still finds out that nothing can happen anymore
      const port = typeof message.port === 'number' ? message.port : undefined
      resolve({ token: message.token, port, ended, onFile, report })
    })
  })
}
