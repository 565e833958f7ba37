// Sentences and the calls of the offline model with a large toolbox. Today is Wednesday, 12 March 2025.
import { expect, test } from 'vitest'
import type { JsonObject } from '../base/json.ts'
import { callsFor, textFor } from './offline/offline-request.test-kit.ts'
import { toolbox } from './offline/toolbox.test-kit.ts'

const tools = toolbox.flatMap((tool) => tool.declaration() ?? [])

type Call = readonly [name: string, args: JsonObject]

/** Sentences with their expected calls. */
const table: readonly (readonly [sentence: string, ...calls: Call[]])[] = [
  // weather
  ['What is the weather in Oslo?', ['get_weather', { city: 'Oslo' }]],
  ['How warm is it in Rio de Janeiro?', ['get_weather', { city: 'Rio de Janeiro' }]],
  ['weather in new york', ['get_weather', { city: 'New York' }]],
  ["What's the weather like in Oslo today?", ['get_weather', { city: 'Oslo' }]],
  ['Is it raining in São Paulo right now?', ['get_weather', { city: 'São Paulo' }]],
  ["What's the weather in Oslo, in fahrenheit?", ['get_weather', { city: 'Oslo', units: 'fahrenheit' }]],
  ['What is the forecast for Paris tomorrow?', ['get_forecast', { city: 'Paris', date: '2025-03-13' }]],
  ['Forecast for Berlin next Monday', ['get_forecast', { city: 'Berlin', date: '2025-03-17' }]],
  // calendar and bookings
  [
    'Schedule a meeting "Sprint review" tomorrow at 3pm for 45 minutes',
    ['create_event', { title: 'Sprint review', date: '2025-03-13', time: '15:00', duration_minutes: 45 }],
  ],
  [
    'Schedule a meeting "Budget" on 2025-03-20 at 14:30 for 120 minutes',
    [
      'create_event',
      {
        title: 'Budget',
        date: '2025-03-20',
        time: '14:30',
        duration_minutes: 120,
      },
    ],
  ],
  [
    'Put "Dentist" into my calendar on 2025-04-01 at 9am',
    ['create_event', { title: 'Dentist', date: '2025-04-01', time: '09:00' }],
  ],
  ["What's on my calendar on Friday?", ['list_events', { date: '2025-03-14' }]],
  ['Show my events for 2026-03-03', ['list_events', { date: '2026-03-03' }]],
  ['Do I have any meetings tomorrow?', ['list_events', { date: '2025-03-13' }]],
  [
    "Book a table for 4 at Luigi's tomorrow at 7pm",
    ['book_table', { restaurant: "Luigi's", people: 4, date: '2025-03-13', time: '19:00' }],
  ],
  [
    'Reserve a table for two people at the Golden Dragon next Friday at 19:30',
    ['book_table', { restaurant: 'Golden Dragon', people: 2, date: '2025-03-14', time: '19:30' }],
  ],
  // shop
  ['Where is my order ORD-123?', ['find_order', { order_id: 'ORD-123' }]],
  ["What's the status of order #4711?", ['find_order', { order_id: '4711' }]],
  ['Has order ORD-5 shipped yet?', ['find_order', { order_id: 'ORD-5' }]],
  ["I'd like to cancel order ORD-9, please", ['cancel_order', { order_id: 'ORD-9' }]],
  // calculator
  ['Multiply 12 by 7', ['calculate', { operation: 'multiply', a: 12, b: 7 }]],
  ['Add 5 and 7', ['calculate', { operation: 'add', a: 5, b: 7 }]],
  ['Divide 1,200 by -4', ['calculate', { operation: 'divide', a: 1200, b: -4 }]],
  ['Multiply three by 25', ['calculate', { operation: 'multiply', a: 3, b: 25 }]],
  // e-mail
  [
    'Send an email to ann@example.com with subject "Hello" and body "How are you?"',
    ['send_email', { to: 'ann@example.com', subject: 'Hello', body: 'How are you?' }],
  ],
  [
    'Send an urgent e-mail to joe@example.org with subject "Help" and body "The server is down."',
    ['send_email', { to: 'joe@example.org', subject: 'Help', body: 'The server is down.', urgent: true }],
  ],
  // search
  ['Search the web for cheap flights to Lima', ['web_search', { query: 'cheap flights to Lima' }]],
  ['Search the web for the best pizza in Naples', ['web_search', { query: 'best pizza in Naples' }]],
  ['Search the web for "quantum computing", limit 5', ['web_search', { query: 'quantum computing', limit: 5 }]],
  // files
  ['Read notes/today.txt', ['read_file', { path: 'notes/today.txt' }]],
  ['Open the file report.md', ['read_file', { path: 'report.md' }]],
  ['Delete ./logs/old.log', ['delete_file', { path: './logs/old.log' }]],
  ['Remove the file "old notes.txt"', ['delete_file', { path: 'old notes.txt' }]],
  // home
  ['Turn on the kitchen light', ['set_light', { room: 'kitchen', on: true }]],
  ['Turn off the lights in the living room', ['set_light', { room: 'living_room', on: false }]],
  ['Set the thermostat to 21.5 degrees', ['set_thermostat', { degrees: 21.5 }]],
  ['Turn the heating up to 23 in the living room', ['set_thermostat', { degrees: 23, room: 'living_room' }]],
  ['Lock the front door', ['lock_door', { door: 'front', locked: true }]],
  ['Unlock the garage door please', ['lock_door', { door: 'garage', locked: false }]],
  // bank
  ['Transfer $250 from savings to Alice', ['transfer_money', { amount: 250, from: 'savings', to: 'Alice' }]],
  [
    'Send 1,000 euros from my checking account to Bob',
    ['transfer_money', { amount: 1000, from: 'checking', to: 'Bob' }],
  ],
  [
    'Move 300 from savings to Bob with note "rent"',
    ['transfer_money', { amount: 300, from: 'savings', to: 'Bob', note: 'rent' }],
  ],
  ['How much money is in my checking account?', ['get_balance', { account: 'checking' }]],
  // languages
  ['Translate "good morning" into French', ['translate', { text: 'good morning', target_language: 'French' }]],
  ['Translate good night to Spanish', ['translate', { text: 'good night', target_language: 'Spanish' }]],
  // to-do lists
  ['Add buy milk to my to-do list', ['add_todo', { task: 'buy milk' }]],
  [
    'Add a high priority task next Friday: file the taxes',
    ['add_todo', { task: 'file the taxes', priority: 'high', due: '2025-03-14' }],
  ],
  ['Put call the plumber on my todo list for tomorrow', ['add_todo', { task: 'call the plumber', due: '2025-03-13' }]],
  ['Mark task 7 as done', ['complete_todo', { id: 7 }]],
  // currencies
  ['Convert 100 USD to EUR', ['convert_currency', { amount: 100, from: 'USD', to: 'EUR' }]],
  // timers, music, flights, contacts
  ['Set a timer for 10 seconds', ['set_timer', { seconds: 10 }]],
  ['Play Bohemian Rhapsody by Queen', ['play_music', { song: 'Bohemian Rhapsody', artist: 'Queen' }]],
  [
    'Find flights from Oslo to Lima on 2025-05-05 for 2 passengers',
    ['search_flights', { from: 'Oslo', to: 'Lima', date: '2025-05-05', passengers: 2 }],
  ],
  [
    'I want to fly from Paris to Rome on 2025-06-01',
    ['search_flights', { from: 'Paris', to: 'Rome', date: '2025-06-01' }],
  ],
  [
    'Create a contact Grace Hopper, grace@example.com',
    ['create_contact', { name: 'Grace Hopper', email: 'grace@example.com' }],
  ],
  [
    'Shorten https://example.com/a/very/long/path?x=1',
    ['shorten_link', { url: 'https://example.com/a/very/long/path?x=1' }],
  ],
  // several calls
  ["What's the weather in Oslo and in Lima?", ['get_weather', { city: 'Oslo' }], ['get_weather', { city: 'Lima' }]],
  [
    'Weather in oslo, lima and cairo please',
    ['get_weather', { city: 'Oslo' }],
    ['get_weather', { city: 'Lima' }],
    ['get_weather', { city: 'Cairo' }],
  ],
  [
    'Switch off the light in the bedroom and in the hall',
    ['set_light', { room: 'bedroom', on: false }],
    ['set_light', { room: 'hall', on: false }],
  ],
  [
    'Turn off the kitchen light, then lock the garage door and set a timer for 180 seconds',
    ['set_light', { room: 'kitchen', on: false }],
    ['lock_door', { door: 'garage', locked: true }],
    ['set_timer', { seconds: 180 }],
  ],
  [
    "What's the weather in Oslo, and add 3 and 4",
    ['get_weather', { city: 'Oslo' }],
    ['calculate', { operation: 'add', a: 3, b: 4 }],
  ],
]

test.each(table.map(([sentence, ...calls]) => ({ sentence, calls })))(
  'the offline model calls the right tools for: $sentence',
  async ({ sentence, calls }) => {
    expect(await callsFor({ tools, messages: sentence })).toEqual(calls)
  },
)

test('the tools of the offline model test accept the expected calls of the table', async () => {
  const byName = new Map(toolbox.map((tool) => [tool.name, tool]))
  for (const [sentence, ...calls] of table) {
    for (const [name, args] of calls)
      expect({ sentence, ...(await byName.get(name)?.parse?.(args)) }).not.toHaveProperty('issues')
  }
})

test('the table of the offline model test has at least sixty sentences and covers all tools without list parameters', () => {
  expect(table.length).toBeGreaterThanOrEqual(60)
  const called = new Set(table.flatMap(([, ...calls]) => calls.map(([name]) => name)))
  expect(toolbox.map(({ name }) => name).filter((name) => !called.has(name))).toEqual([
    'place_order',
    'compare_cities',
    'subscribe',
  ]) // these take lists
})

test.each([
  ['What is the weather?', 'Please tell me the city.'],
  ['Cancel my order', 'Please tell me the order id.'],
  ['Translate this', 'Please tell me the text and the target language.'],
  ['Transfer 50 dollars to Carol', 'Please tell me "from" (checking or savings).'],
  ['Flights from Oslo to Lima', 'Please tell me the date.'],
  ['Delete everything', 'Please tell me the path.'],
])('the offline model asks for the missing arguments of: %s', async (sentence, question) => {
  expect(await textFor({ tools, messages: sentence })).toBe(question)
})

test.each(['Tell me a joke', 'Who was the first president of France?', 'Is the front door locked?', '', '…'])(
  'the offline model describes its tools when none matches %j',
  async (sentence) => {
    const text = await textFor({ tools, messages: sentence })
    expect(text).toMatch(/^Sorry, I did not understand that\. I am Toolwright's offline model: rules instead of /)
    expect(text).toContain('I can get the current weather in a city, get the weather forecast for a day to come, ')
  },
)

test.each([
  ['Hello!', /^Hello! I can get the current weather in a city, /],
  ['good morning', /^Hello! /],
  ['hi there', /^Hello! /],
  ['Thanks a lot!', /^You're welcome!$/],
  ['ok, thank you', /^You're welcome!$/],
  ['cool, thanks', /^You're welcome!$/],
  ['bye', /^Goodbye!$/],
  ['See you later', /^Goodbye!$/],
  ['help', /^I can get the current weather in a city, .* Ask in plain words\.$/],
  ['What can you do?', /^I can get /],
  ['Who are you?', /^I am Toolwright's offline model: /],
  ['What can you do for me?', /^I can get /],
  ['What can you do about the weather in Oslo', /^$/], // a call
  ['great', /^All right\. What else can I do\?$/],
])('the offline model answers %j like a person', async (sentence, answer) => {
  expect(await textFor({ tools, messages: sentence })).toMatch(answer)
})
