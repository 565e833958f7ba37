// The agent file of all processes: a runner on Postgres.
import { Runner } from 'toolwright'
import { postgres } from 'toolwright/postgres'
import agent from './agent.ts'

const { DATABASE_URL = '' } = process.env

// After 2 seconds without a sign of life, the sessions of a process go to another one. In production, keep the default of 15.
const services = postgres(DATABASE_URL, { schema: 'toolwright_replicas', leaseMs: 2_000 })
await services.ready() // creates the tables; a wrong address or password ends the process here

const runner: Runner = new Runner({ appName: 'desk', agent, ...services })
export default runner
