import { type Signal, signal } from './signal.ts'

/** How the connection to the server is. `away`: it is tried again. `locked`: the server has another token than this page. */
export type Connection = 'connecting' | 'online' | 'away' | 'locked'

/** The connection to the server. */
export const connection: Signal<Connection> = signal<Connection>('connecting')
