// The tools of gemini-adk-rs' documentation as plain functions. They keep their names.
import { cached, confirm, type ToolSource, timeout, tool } from 'toolwright'

/** Get the current weather for a city */
async function get_weather(city: string, units?: string): Promise<{ city: string; temp_c: number; units: string }> {
  return { city, temp_c: 22, units: units ?? 'metric' }
}

// The documentation has three tools of one name. In Rust, these have a written schema, and a struct.
const others = {
  /**
   * Get current weather for a city
   * @param city City name
   */
  simple: async (city: string) => ({ city, temperature_c: 22, condition: 'Partly cloudy' }),

  /** Get current weather for a city */
  typed: async ({ city, units = 'celsius' }: WeatherArgs) => ({ temp: 22, city, units }),
}

interface WeatherArgs {
  /** The city to get weather for */
  city: string
  /** Temperature units (celsius or fahrenheit) */
  units?: string
}

/** A tool with state, such as a connection pool: a function in the scope of the state. */
function createLookup(pool: ReadonlyMap<string, number>): ToolSource {
  /** Look up an account by ID */
  async function lookup_account(account_id: string): Promise<{ account_id: string; balance: number }> {
    return { account_id, balance: pool.get(account_id) ?? 0 }
  }
  return [lookup_account]
}

/** Track a long-running operation */
async function* track_progress(): AsyncGenerator<{ step: number }, void> {
  for (let step = 0; step < 5; step++) yield { step }
}

/** Search the knowledge base */
async function search_kb(query: string): Promise<string[]> {
  return [query]
}

/** Get exchange rate */
async function get_rate(currency: string): Promise<{ currency: string; rate: number }> {
  return { currency, rate: 1.08 }
}

/** Send email to customer */
async function send_email(to: string): Promise<{ sent: string }> {
  return { sent: to }
}

/** All tools of the documentation. */
export const tools: readonly ToolSource[] = [
  get_weather,
  tool(others.simple, { name: 'get_weather_simple' }),
  tool(others.typed, { name: 'get_weather_typed' }),
  createLookup(new Map([['acc-1', 4250]])),
  track_progress,
  timeout(tool(search_kb), 10_000),
  cached(tool(get_rate)),
  confirm(tool(send_email), 'This will send a real email - are you sure?'),
]
