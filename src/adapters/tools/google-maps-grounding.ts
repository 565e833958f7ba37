import type { Tool } from '../../engine/tool/tool.ts'
import { serverTool } from './server-tool.ts'

/**
 * Server tool: Gemini looks up places in Google Maps.
 *
 * @example
 * const agent = new LlmAgent({ name: 'guide', model: gemini('gemini-2.5-flash'), tools: [googleMapsGrounding()] })
 */
export function googleMapsGrounding(): Tool {
  return serverTool({
    name: 'google_maps',
    description: 'Look up places with Google Maps.',
    capability: 'googleMaps',
    entry: { googleMaps: {} },
  })
}
