// Plain functions as tools: types and doc comments are the schema. Start it: npx toolwright run examples/functions.ts
import { approve, LlmAgent, Runner, type ToolContext, ToolDispatcher, tool } from 'toolwright'
import { model } from './model.ts'

/**
 * Get the current temperature in a city.
 * @param city Name of the city, like "Oslo"
 */
function getWeather(city: string, units: 'celsius' | 'fahrenheit' = 'celsius', context: ToolContext) {
  context.state.set('lastCity', city)
  return { city, temperature: units === 'celsius' ? 22 : 72, units }
}

interface Booking {
  restaurant: string
  /**
   * Number of guests
   * @minimum 1
   * @maximum 8
   */
  people: number
}

/** Book a table at a restaurant. */
const bookTable = async ({ restaurant, people }: Booking) => ({ restaurant, people, status: 'booked' })

const orders = [
  { id: 'A-7', price: 40, at: new Date('2026-01-30T09:00:00Z') },
  { id: 'A-8', price: 90, at: new Date('2026-03-02T09:00:00Z') },
]

/** List the orders since a time. In JSON the time is a string; the body gets a Date. */
const listOrders = (since: Date) => orders.filter(({ at }) => at > since)

/** Refund the price of an order. */
const refundOrder = (id: string) => ({ id, refunded: orders.find((order) => order.id === id)?.price ?? 0 })

/** Count the stock of the warehouse. */
async function* countStock() {
  yield 'lamps' // progress
  yield 'chairs'
  return { lamps: 12, chairs: 4 }
}

const refund = tool(refundOrder, { name: 'refund_order', requiresConfirmation: true }) // options win over what was read
const tools = [getWeather, bookTable, listOrders, countStock, refund]
const agent: LlmAgent = new LlmAgent({ name: 'desk', model, tools })
export default agent

export const tour: readonly string[] = ['How warm is it in Oslo?', 'Book a table for 4 at Maaemo', 'Count the stock']

if (import.meta.main) {
  const runner = new Runner({ appName: 'desk', agent })
  const ids = { userId: 'ada', sessionId: 's1' }
  for (const message of tour) console.log((await runner.complete({ ...ids, message })).text)
  const { pending } = await runner.complete({ ...ids, message: 'Refund order A-8' })
  console.log((await runner.complete({ ...ids, message: pending.map((request) => approve(request)) })).text)
  const recent = { since: '2026-02-01T00:00:00Z' }
  console.log(await new ToolDispatcher().register(tool(listOrders)).call('listOrders', recent))
}
