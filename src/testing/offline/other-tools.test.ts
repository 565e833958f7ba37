// A second toolbox in plain JSON Schema: the rules are not tuned to one toolbox.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../base/json.ts'
import { callsFor, declare } from './offline-request.test-kit.ts'

const string = { type: 'string' }
const number = { type: 'number' }
const integer = { type: 'integer' }
const boolean = { type: 'boolean' }
const date = { type: 'string', format: 'date' }
const strings = { type: 'array', items: string }
const units = { enum: ['km', 'miles', 'meters', 'feet'] }

const tools = [
  declare(
    'getCurrentWeather',
    'Get the current weather for a location',
    {
      location: { ...string, description: 'The city and state, e.g. San Francisco, CA' },
      unit: { ...string, enum: ['celsius', 'fahrenheit'] },
    },
    ['unit'],
  ),
  declare('get_n_day_weather_forecast', 'Get an N-day weather forecast', { location: string, num_days: integer }),
  declare(
    'create_github_issue',
    'Open an issue in a GitHub repository',
    { repo: string, title: string, labels: strings },
    ['labels'],
  ),
  declare(
    'list_pull_requests',
    'List pull requests of a repository',
    { repo: string, state: { enum: ['open', 'closed', 'all'] } },
    ['state'],
  ),
  declare(
    'find_flights',
    'Search for flights',
    { origin: string, destination: string, departure_date: date, cabin: { enum: ['economy', 'business'] } },
    ['cabin'],
  ),
  declare('control_light', 'Set the brightness and color temperature of a room light', {
    brightness: number,
    colorTemperature: { enum: ['daylight', 'cool', 'warm'] },
  }),
  declare('start_music', 'Play some music', { energetic: boolean, loud: boolean }),
  declare('get_recipe', 'Find a recipe', { ingredients: strings, servings: integer }, ['servings']),
  declare('run_sql', 'Run an SQL query on the database', { sql: string }),
  declare('schedule_meeting', 'Schedules a meeting with specified attendees at a given time and date.', {
    attendees: strings,
    date: string,
    time: string,
    topic: string,
  }),
  declare('roll_dice', 'Roll dice and return the sum', { sides: integer, count: integer }, ['count']),
  declare('get_user', 'Fetch a user profile', { userId: string }),
  declare('create_ticket', 'Open a support ticket', { title: string, severity: { enum: ['low', 'high', 'critical'] } }),
  declare(
    'search_products',
    'Search the product catalogue',
    { query: string, max_price: number, category: { enum: ['books', 'clothing'] } },
    ['max_price', 'category'],
  ),
  declare('refund_order', 'Refund an order', { orderId: string, amount: number, reason: string }, ['amount', 'reason']),
  declare('get_stock_price', 'Get the latest price of a stock', { symbol: string }),
  declare('send_sms', 'Send a text message to a phone number', { phone: string, message: string }),
  declare('list_files', 'List the files of a directory', { directory: string }, ['directory']),
  declare('remember', 'Remember a fact for later', { fact: string }),
  declare('count_letters', 'Count how often a letter occurs in a word', { word: string, letter: string }),
  declare(
    'book_hotel',
    'Book a hotel room',
    { city: string, check_in: date, check_out: date, guests: integer, breakfast: boolean },
    ['guests', 'breakfast'],
  ),
  declare('get_capital', 'Get the capital of a country', { country: string }),
  declare('post_message', 'Post a message to a Slack channel', { channel: string, text: string }),
  declare('convert_units', 'Convert a length between units', { value: number, from_unit: units, to_unit: units }),
  declare('get_directions', 'Directions from one place to another', { origin: string, destination: string }),
  declare('calculator', 'Evaluate a mathematical expression', { expression: string }),
]

test.each<[sentence: string, name: string, args: JsonObject]>([
  ["What's the weather like in San Francisco?", 'getCurrentWeather', { location: 'San Francisco' }],
  ['Give me a 5 day forecast for Berlin', 'get_n_day_weather_forecast', { location: 'Berlin', num_days: 5 }],
  ['List the closed pull requests of acme/widgets', 'list_pull_requests', { repo: 'acme/widgets', state: 'closed' }],
  [
    'Find business class flights from JFK to LAX on 2025-04-20',
    'find_flights',
    { origin: 'JFK', destination: 'LAX', departure_date: '2025-04-20', cabin: 'business' },
  ],
  [
    'Dim the lights to 25 with a warm colour temperature',
    'control_light',
    { brightness: 25, colorTemperature: 'warm' },
  ],
  ['Play loud energetic music', 'start_music', { energetic: true, loud: true }],
  ['Run the query "select * from users"', 'run_sql', { sql: 'select * from users' }],
  ['Roll dice with 6 sides and a count of 2', 'roll_dice', { sides: 6, count: 2 }],
  ['Roll a 20-sided die', 'roll_dice', { sides: 20 }],
  ['Who is user 17?', 'get_user', { userId: '17' }],
  [
    'Open a critical ticket: the login page is broken',
    'create_ticket',
    { title: 'the login page is broken', severity: 'critical' },
  ],
  [
    'Search products for "sailing" in books, max price 20',
    'search_products',
    { query: 'sailing', max_price: 20, category: 'books' },
  ],
  [
    'Refund order A-17, amount 30, reason "it arrived broken"',
    'refund_order',
    { orderId: 'A-17', amount: 30, reason: 'it arrived broken' },
  ],
  ['How is TSLA stock doing?', 'get_stock_price', { symbol: 'TSLA' }],
  ['Remember: my favourite colour is green', 'remember', { fact: 'my favourite colour is green' }],
  [
    'Book a hotel in Rome from 2025-05-03 to 2025-05-07 for 2 guests with breakfast',
    'book_hotel',
    { city: 'Rome', check_in: '2025-05-03', check_out: '2025-05-07', guests: 2, breakfast: true },
  ],
  ["What's the capital of New Zealand?", 'get_capital', { country: 'New Zealand' }],
  ['Directions from Oslo to Bergen', 'get_directions', { origin: 'Oslo', destination: 'Bergen' }],
])('the offline model calls the right tool of another toolbox for: %s', async (sentence, name, args) => {
  expect(await callsFor({ tools, messages: sentence })).toEqual([[name, args]])
})
