import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { LedgerLine, LedgerReply } from './ledger-line.ts'

/** A connection to the ledger. */
export class LedgerClient {
  readonly #socket: Socket
  /** In the order of their lines. */
  readonly #waiting: ((reply: LedgerReply) => void)[] = []

  constructor(socket: Socket) {
    this.#socket = socket
    createInterface({ input: socket }).on('line', (text) => this.#waiting.shift()?.(JSON.parse(text) as LedgerReply))
  }

  /** Connects to the ledger at a path. */
  static async connect(path: string): Promise<LedgerClient> {
    const socket = createConnection(path)
    await once(socket, 'connect')
    return new LedgerClient(socket)
  }

  /** Writes a line. Resolves when it is on the disk. */
  write(line: LedgerLine): Promise<LedgerReply> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#socket.write(`${JSON.stringify(line)}\n`)
    })
  }
}
