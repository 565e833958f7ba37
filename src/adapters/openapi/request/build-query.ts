import { isRecord } from '../../../core/base/json.ts'
import type { ApiOperation, ApiParameter } from '../operation.ts'
import { contentText, isJsonType } from './content-text.ts'
import { splitTemplate } from './expand-path.ts'
import { encodeReserved, encodeText } from './percent-encode.ts'
import { serializePairs } from './serialize-value.ts'

/** The query of a request, without `?`. */
export function buildQuery(operation: ApiOperation, args: ReadonlyMap<string, unknown>): string {
  const pairs = operation.parameters.flatMap((parameter) => {
    const value = args.get(parameter.argument)
    if (parameter.in === 'query') return queryPairs(parameter, value)
    return parameter.in === 'querystring' ? wholeQuery(parameter, value) : []
  })
  const { query } = splitTemplate(operation.path)
  return [query, ...pairs].filter((one) => one !== '').join('&')
}

function queryPairs(parameter: ApiParameter, value: unknown): string[] {
  const { name, style, explode, allowReserved, contentType } = parameter
  const encode = allowReserved ? encodeReserved : encodeText
  if (contentType === undefined) return serializePairs(value, { name, style, explode, encode, encodeName: encodeText })
  const text = contentText(value, contentType)
  return text === undefined ? [] : [`${encodeText(name)}=${encode(text)}`]
}

/** OpenAPI 3.2: the value is the whole query. */
function wholeQuery({ contentType = 'application/x-www-form-urlencoded' }: ApiParameter, value: unknown): string[] {
  if (isRecord(value) && !isJsonType(contentType))
    return Object.entries(value).flatMap(([name, member]) =>
      serializePairs(member, { name, style: 'form', explode: true, encode: encodeText }),
    )
  const text = contentText(value, contentType)
  return text === undefined ? [] : [encodeText(text)]
}
