// Starts and kills the processes of the example, and talks to the servers among them.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A server or worker, in a process of its own. */
export interface Replica {
  /** What the story calls it. */
  readonly name: string
  /** Kills the process with SIGKILL, which it cannot notice. */
  kill(): Promise<void>
  /** Sends a request to the server, and returns the JSON of its response. */
  send<T>(route: `${'GET' | 'POST'} /${string}`, body?: object): Promise<T>
}

/** Starts a program. Resolves once it is ready. */
export async function startReplica(name: string, program: string, env: NodeJS.ProcessEnv): Promise<Replica> {
  const child = fork(new URL(program, import.meta.url), { env: { ...process.env, ...env, REPLICA: name } })
  const { url = '', token = '' } = await readAddress(child, name)
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const send = async <T>(route: string, body?: object): Promise<T> => {
    const [method = '', path = ''] = route.split(' ')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${name} answers ${response.status}: ${text}`)
    return JSON.parse(text) as T
  }
  return { name, kill, send }
}

async function readAddress(child: ChildProcess, name: string): Promise<{ url?: string; token?: string }> {
  const ended = new Promise<never>((_, reject) => child.once('exit', () => reject(new Error(`${name} did not start.`))))
  ended.catch(() => {}) // it has started before
  const [address] = (await Promise.race([once(child, 'message'), ended])) as [{ url?: string; token?: string }]
  return address
}
