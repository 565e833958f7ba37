import type { LiveModel } from '../../../engine/model/live-model.ts'
import { capabilitiesOf, isGemini3 } from '../capabilities.ts'

/** What a live Gemini model supports, derived from its name. */
export function liveCapabilitiesOf(name: string, isVertex: boolean): NonNullable<LiveModel['capabilities']> {
  return {
    ...capabilitiesOf(name, isVertex),
    serverToolsWithFunctions: true,
    // Vertex AI refuses the fields; Google documents function calls of Gemini 3 live models as synchronous only
    nonBlocking: !isVertex && !isGemini3(name),
    updates: true,
    resumption: true,
  }
}
