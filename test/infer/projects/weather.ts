// The function that the projects of these tests share, and what it becomes.

/** The types that the function imports. */
export const weatherTypes = `
export type Units = 'celsius' | 'fahrenheit'
export interface Place {
  /** Name of the city */
  city: string
  country?: string | undefined
  near: Place | null
}
`

/** A file with the function. It imports its types from `specifier`. */
export function weatherTool(specifier: string): string {
  return `
import { tool, type ToolContext } from 'toolwright'
import type { Place, Units } from '${specifier}'

/**
 * Get the weather.
 * @param units Unit of the temperature
 */
export function getWeather(place: Place, units: Units = 'celsius', at: Date | null, context?: ToolContext) {
  return { degrees: 5, city: place.city, units, at, id: context?.functionCallId ?? null }
}
export const weather = tool(getWeather, { timeoutMs: 5 })
`
}

const units = { type: 'string', enum: ['celsius', 'fahrenheit'] }
const place = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Name of the city' },
    country: { type: 'string' },
    near: { anyOf: [{ $ref: '#/$defs/Place' }, { type: 'null' }] },
  },
  required: ['city', 'near'],
  additionalProperties: false,
}
const date = { type: 'string', format: 'date-time' }

/** What every project gives for the function, as JSON. */
export const weatherJson: string = JSON.stringify([
  {
    name: 'getWeather',
    description: 'Get the weather.',
    parameters: {
      type: 'object',
      properties: {
        place: { $ref: '#/$defs/Place' },
        units: { ...units, description: 'Unit of the temperature', default: 'celsius' },
        at: { anyOf: [{ ...date, 'x-toolwright-type': 'Date' }, { type: 'null' }] },
      },
      required: ['place', 'at'],
      additionalProperties: false,
      $defs: { Place: place },
    },
    call: [{ argument: 'place' }, { argument: 'units' }, { argument: 'at' }, { context: true }],
    response: {
      type: 'object',
      properties: {
        degrees: { type: 'number' },
        city: { type: 'string' },
        units,
        at: { anyOf: [date, { type: 'null' }] },
        id: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['degrees', 'city', 'units', 'at', 'id'],
    },
  },
])
