import type { Tool } from '../tool/tool.ts'
import { serverSide } from './server-tool.ts'

/** Gemini looks places up in Google Maps. */
export function googleMapsGrounding(): Tool {
  return serverSide({
    name: 'google_maps',
    description: 'Look up places with Google Maps.',
    capability: 'googleMaps',
    entry: { googleMaps: {} },
  })
}
