import type { Tool } from '../tool/tool.ts'
import { serverTool } from './server-tool.ts'

/** Gemini looks places up in Google Maps. */
export function googleMapsGrounding(): Tool {
  return serverTool({
    name: 'google_maps',
    description: 'Look up places with Google Maps.',
    capability: 'googleMaps',
    entry: { googleMaps: {} },
  })
}
