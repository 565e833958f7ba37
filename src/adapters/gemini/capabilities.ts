import type { Model } from '../../engine/model/model.ts'

/** What a Gemini model supports, derived from its name. */
export function capabilitiesOf(name: string, isVertex: boolean): NonNullable<Model['capabilities']> {
  const isNew = isGemini3(name)
  return {
    toolsWithOutputSchema: isNew,
    serverTools: serverToolsOf(name, isVertex),
    serverToolsWithFunctions: isNew,
    // documented for Gemini 2.5: search for pages and read them in one request
    ...(!isNew && versionOf(name) >= 2.5 && { combinableServerTools: [['googleSearch', 'urlContext']] }),
  }
}

/** Whether a model is Gemini 3 or newer: it combines functions with server tools, needs its thought signatures back, and accepts media in results. */
export function isGemini3(name: string): boolean {
  if (/(^|\/)gemini-(\w+-)+latest$/.test(name)) return true // `latest` names always point to newer versions
  return versionOf(name) >= 3
}

/** 2.5 for `gemini-2.5-flash`. 0 when the name has no version: a tuned model, an endpoint, another family. */
function versionOf(name: string): number {
  return Number(/(?:^|\/)gemini-(\d+(?:\.\d+)?)/.exec(name)?.[1] ?? 0)
}

function serverToolsOf(name: string, isVertex: boolean): readonly string[] {
  if (/(^|\/)gemma-/.test(name)) return []
  const version = versionOf(name)
  const isOld = version > 0 && version < 2.5
  return [
    'googleSearch',
    'codeExecution',
    ...(isOld ? [] : ['urlContext', 'googleMaps']),
    ...(isVertex ? ['enterpriseWebSearch', 'vertexAiSearch'] : []),
  ]
}
