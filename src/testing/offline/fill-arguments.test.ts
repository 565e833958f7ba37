// One tool and one sentence for each kind of schema.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../base/json.ts'
import { callsFor, declare, textFor } from './offline-request.test-kit.ts'

/** The arguments of the first call of a tool with these properties. */
async function argsOf(message: string, properties: JsonObject, optional: readonly string[] = []): Promise<unknown> {
  const tools = [declare('run_job', 'Run a job', properties, optional)]
  return (await callsFor({ tools, messages: message }))[0]?.[1]
}

const string = { type: 'string' }
const number = { type: 'number' }
const boolean = { type: 'boolean' }

test.each<[message: string, properties: JsonObject, args: JsonObject, optional?: string[]]>([
  // numbers match parameters by nearby words
  ['Run a job with 3 workers and 12 retries', { retries: number, workers: number }, { retries: 12, workers: 3 }],
  ['Run the job in room 12 with priority 3', { priority: number, room: number }, { priority: 3, room: 12 }],
  ['Run the job for 14 days', { days: number }, { days: 14 }],
  ['Run the job with a limit of 1,500.5', { limit: number }, { limit: 1500.5 }],
  ['Run 3 jobs at 40%', { count: { type: 'integer' }, load: { ...number, maximum: 100 } }, { count: 3, load: 40 }],
  // an optional number needs a matching word
  ['Run job 12', { timeout: number }, {}, ['timeout']],
  ['Run the job with timeout 12', { timeout: number }, { timeout: 12 }, ['timeout']],
  // choices: spaces and underscores, plurals, numbers
  ['Run the job in dry run mode', { mode: { enum: ['dry_run', 'live'] } }, { mode: 'dry_run' }],
  ['Run the job on Windows', { os: { enum: ['linux', 'windows'] } }, { os: 'windows' }],
  ['Run job with level 3', { level: { enum: [1, 2, 3] } }, { level: 3 }],
  ['Run the job', { mode: { enum: ['dry', 'live'], default: 'dry' } }, {}],
  ['Run the job', { kind: { const: 'job' } }, { kind: 'job' }],
  // booleans
  ['Run the job with verbose output', { verbose: boolean }, { verbose: true }, ['verbose']],
  ['Run the job without verbose output', { verbose: boolean }, { verbose: false }, ['verbose']],
  ["Run the job but don't notify anybody", { notify: boolean }, { notify: false }, ['notify']],
  ['Run the job', { verbose: boolean }, {}, ['verbose']],
  ['Run the job', { verbose: boolean }, { verbose: false }],
  // dates and times in the requested format
  ['Run the job tomorrow', { day: { ...string, format: 'date' } }, { day: '2025-03-13' }],
  ['Run the job on Friday at 5pm', { date: string, time: string }, { date: '2025-03-14', time: '17:00' }],
  ['Run the job at 5pm', { time: { ...string, format: 'time' } }, { time: '17:00' }],
  [
    'Run the job from Monday until Friday',
    { start_date: string, end_date: string },
    { start_date: '2025-03-17', end_date: '2025-03-14' },
  ],
  // values with a recognisable form
  ['Run the job for ada@example.com', { owner: { ...string, format: 'email' } }, { owner: 'ada@example.com' }],
  ['Run job JOB-7', { job_id: string }, { job_id: 'JOB-7' }],
  ['Run job 7', { jobId: string }, { jobId: '7' }],
  ['Run the job 2 * 3', { expression: string }, { expression: '2 * 3' }],
  ['Run the job from Oslo to Lima', { to: string, from: string }, { to: 'Lima', from: 'Oslo' }],
  ['Run the job from savings to the blue jar', { source: string, to: string }, { to: 'blue jar', source: 'savings' }],
  // texts
  ['Run a job called "Nightly build"', { name: string }, { name: 'Nightly build' }],
  ['Run a job with title "A" and body "B"', { body: string, title: string }, { title: 'A', body: 'B' }],
  ['Run a job: sweep the floor', { text: string }, { text: 'sweep the floor' }],
])('the offline model fills: %s %j', async (message, properties, args, optional) => {
  expect(await argsOf(message, properties, optional)).toEqual(args)
})

test('the offline model asks for a value with an unknown format', async () => {
  const tools = [declare('run_job', 'Run a job', { at: { ...string, format: 'date-time' } })]
  expect(await textFor({ tools, messages: 'Run the job on Friday at 5pm' })).toBe('Please tell me "at".')
})

test('the offline model asks for a required list or object and omits an optional one', async () => {
  const address = { type: 'object', properties: { city: string }, required: ['city'] }
  const tools = [declare('run_job', 'Run a job', { address })]
  expect(await textFor({ tools, messages: 'Run the job' })).toBe('Please tell me the address.')
  const listing = [declare('run_job', 'Run a job', { people: { type: 'array', items: string } })]
  expect(await textFor({ tools: listing, messages: 'Run the job for Ada and Bob' })).toBe('Please tell me the people.')
  expect(await argsOf('Run the job', { address }, ['address'])).toEqual({})
})

describe('the offline model', () => {
  test('fills parameters with alternatives and nullable types', async () => {
    const properties = {
      when: { anyOf: [{ ...string, format: 'date' }, { type: 'null' }] },
      size: { type: ['integer', 'null'] },
    }
    expect(await argsOf('Run the job tomorrow with size 4', properties)).toEqual({ when: '2025-03-13', size: 4 })
  })
})
