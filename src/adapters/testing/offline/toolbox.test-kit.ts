// A large toolbox with tools for many domains.
import { z } from 'zod'
import { tool } from '../../../engine/tool/define-tool.ts'
import type { Tool } from '../../../engine/tool/tool.ts'

const rooms = z.enum(['kitchen', 'bedroom', 'living_room', 'hall'])
const accounts = z.enum(['checking', 'savings'])
const orderId = z.string().describe('The order number, such as ORD-123')

const definitions: readonly (readonly [name: string, description: string, parameters: z.ZodObject])[] = [
  [
    'get_weather',
    'Get the current weather in a city',
    z.object({ city: z.string(), units: z.enum(['celsius', 'fahrenheit']).default('celsius') }),
  ],
  ['get_forecast', 'Get the weather forecast for a day to come', z.object({ city: z.string(), date: z.iso.date() })],
  [
    'create_event',
    'Put a meeting or appointment into the calendar',
    z.object({
      title: z.string(),
      date: z.iso.date(),
      time: z.string().describe('HH:mm'),
      duration_minutes: z.int().positive().optional(),
      attendees: z.array(z.email()).optional(),
    }),
  ],
  ['list_events', 'Show the calendar of a day', z.object({ date: z.iso.date() })],
  [
    'book_table',
    'Reserve a table at a restaurant',
    z.object({
      restaurant: z.string().describe('The name of the place'),
      people: z.int().positive(),
      date: z.iso.date(),
      time: z.string().describe('HH:mm'),
    }),
  ],
  ['find_order', 'Look up the status of an order', z.object({ order_id: orderId })],
  ['cancel_order', 'Cancel an order', z.object({ order_id: orderId, reason: z.string().optional() })],
  [
    'place_order',
    'Buy products in the shop',
    z.object({
      items: z.array(z.object({ product: z.string(), quantity: z.int() })),
      gift_wrap: z.boolean().optional(),
    }),
  ],
  [
    'calculate',
    'Do arithmetic with two numbers',
    z.object({ operation: z.enum(['add', 'subtract', 'multiply', 'divide']), a: z.number(), b: z.number() }),
  ],
  [
    'send_email',
    'Send an e-mail',
    z.object({ to: z.email(), subject: z.string(), body: z.string(), urgent: z.boolean().optional() }),
  ],
  ['web_search', 'Search the web', z.object({ query: z.string(), limit: z.int().optional() })],
  ['read_file', 'Read a text file', z.object({ path: z.string() })],
  ['delete_file', 'Delete a file', z.object({ path: z.string() })],
  [
    'set_light',
    'Turn the light of a room on or off, or dim it',
    z.object({ room: rooms, on: z.boolean(), brightness: z.int().min(0).max(100).optional() }),
  ],
  [
    'set_thermostat',
    'Set the heating of a room to a number of degrees',
    z.object({ degrees: z.number(), room: rooms.optional() }),
  ],
  ['lock_door', 'Lock or unlock a door', z.object({ door: z.enum(['front', 'back', 'garage']), locked: z.boolean() })],
  [
    'transfer_money',
    'Transfer money from one of your bank accounts to somebody',
    z.object({
      amount: z.number(),
      from: accounts,
      to: z.string().describe('Who gets it'),
      note: z.string().optional(),
    }),
  ],
  ['get_balance', 'Get the balance of a bank account', z.object({ account: accounts })],
  ['translate', 'Translate a text into another language', z.object({ text: z.string(), target_language: z.string() })],
  [
    'add_todo',
    'Add a task to the to-do list',
    z.object({
      task: z.string(),
      priority: z.enum(['low', 'normal', 'high']).nullable().optional(),
      due: z.iso.date().optional(),
    }),
  ],
  ['complete_todo', 'Mark a task of the to-do list as done', z.object({ id: z.int() })],
  [
    'convert_currency',
    'Convert an amount of money from one currency to another',
    z.object({
      amount: z.number(),
      from: z.string().describe('Currency code'),
      to: z.string().describe('Currency code'),
    }),
  ],
  ['set_timer', 'Start a timer', z.object({ seconds: z.number() })],
  ['play_music', 'Play a song', z.object({ song: z.string(), artist: z.string().optional() })],
  [
    'search_flights',
    'Find flights between two cities',
    z.object({
      from: z.string().describe('City of departure'),
      to: z.string().describe('City of arrival'),
      date: z.iso.date(),
      passengers: z.int().default(1),
    }),
  ],
  [
    'create_contact',
    'Save a person in the address book',
    z.object({
      name: z.string(),
      email: z.email().optional(),
      address: z.object({ street: z.string(), city: z.string() }).optional(),
    }),
  ],
  ['compare_cities', 'Compare the cost of living of cities', z.object({ cities: z.array(z.string()) })],
  [
    'subscribe',
    'Subscribe somebody to newsletters',
    z.object({ email: z.email(), topics: z.array(z.enum(['sports', 'science', 'politics'])) }),
  ],
  ['shorten_link', 'Make a short link of a URL', z.object({ url: z.url() })],
]

/** Tools that return their arguments. */
export const toolbox: readonly Tool[] = definitions.map(([name, description, parameters]) =>
  tool({ name, description, parameters, effect: 'none', run: (args) => args }),
)
