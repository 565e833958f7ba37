// What the documentation of three other kits says about their function tools.
import type { JsonObject } from '../../../src/core/base/json.ts'

/** A tool: the name, the description, the parameters, and which of them are required. */
export type DocumentedTool = readonly [
  name: string,
  description: string,
  parameters: JsonObject,
  required: readonly string[],
]

const text = { type: 'string' }
const integer = { type: 'number', multipleOf: 1 }

/** The tools of each kit, by the file with their plain functions. */
export const DOCUMENTED: { readonly [file: string]: readonly DocumentedTool[] } = {
  'adk-rs.ts': [
    [
      'save_artifact',
      'Save a text as an artifact.',
      { filename: { ...text, description: 'Name of the artifact' }, text },
      ['filename', 'text'],
    ],
    [
      'load_artifact',
      'Load an artifact.',
      { filename: text, version: { type: 'number', description: 'Latest version when absent' } },
      ['filename'],
    ],
    ['state_delta', 'Write a key of the session state.', { key: text, value: {} }, ['key', 'value']],
    ['hand_over', 'Hand the conversation over to another agent.', { name: text }, ['name']],
    ['escalate', 'Leave the loop.', {}, []],
    ['skip_summarization', 'Answer the user without another model call.', {}, []],
    ['long_running', 'Start work that takes long.', {}, []],
    ['drop_table', 'Drop a table.', { table: text }, ['table']],
  ],
  'google-adk.ts': [
    ['add', 'Add two integers.', { a: integer, b: integer }, ['a', 'b']],
    ['confirmed_add', 'Add two integers.', { a: integer, b: integer }, ['a', 'b']],
    [
      'list_files',
      'List files in a given folder.',
      { folder: { ...text, description: 'The folder path.' } },
      ['folder'],
    ],
    ['wipe_all', 'Irreversibly wipes data.', { scope: text }, ['scope']],
    ['kick_off_build', 'Start a build.', { project: text }, ['project']],
    ['research', 'Research the topic.', { topic: text }, ['topic']],
  ],
  'gemini-adk-rs.ts': [
    ['get_weather', 'Get the current weather for a city', { city: text, units: text }, ['city']],
    ['get_weather_simple', 'Get current weather for a city', { city: { ...text, description: 'City name' } }, ['city']],
    [
      'get_weather_typed',
      'Get current weather for a city',
      {
        city: { ...text, description: 'The city to get weather for' },
        units: { ...text, description: 'Temperature units (celsius or fahrenheit)', default: 'celsius' },
      },
      ['city'],
    ],
    ['lookup_account', 'Look up an account by ID', { account_id: text }, ['account_id']],
    ['track_progress', 'Track a long-running operation', {}, []],
    ['search_kb', 'Search the knowledge base', { query: text }, ['query']],
    ['get_rate', 'Get exchange rate', { currency: text }, ['currency']],
    ['send_email', 'Send email to customer', { to: text }, ['to']],
  ],
}
