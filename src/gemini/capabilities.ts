import type { Model } from '../tool/model.ts'

/** What a Gemini of this name can do, as far as its name tells. */
export function capabilitiesOf(name: string, isVertex: boolean): NonNullable<Model['capabilities']> {
  const isNew = isGemini3(name)
  return {
    toolsWithOutputSchema: isNew,
    serverTools: serverToolsOf(name, isVertex),
    serverToolsWithFunctions: isNew,
  }
}

/** From Gemini 3 on: functions beside other things, thought signatures demanded back, media in results. */
export function isGemini3(name: string): boolean {
  if (/(^|\/)gemini-(\w+-)+latest$/.test(name)) return true // what comes next is newer still
  return versionOf(name) >= 3
}

/** 2.5 of `gemini-2.5-flash`; 0 when the name does not tell: a tuned model, an endpoint, another family. */
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
