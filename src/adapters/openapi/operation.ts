import type { JsonObject } from '../../core/base/json.ts'

/** One operation of an API. Independent of the OpenAPI version of its document. */
export interface ApiOperation {
  /** The name of the tool, unique in the document. */
  readonly name: string
  /** The HTTP method, in upper case. */
  readonly method: string
  /** The path template, such as `/pets/{petId}`, without query and fragment. */
  readonly path: string
  /** Summary and description, for the model. */
  readonly description: string
  /** Is the operation marked as deprecated? */
  readonly isDeprecated: boolean
  /** The parameters in path, query, headers and cookies. */
  readonly parameters: readonly ApiParameter[]
  /** The request body; undefined if the operation has none. */
  readonly body: RequestBody | undefined
  /** The servers that apply to the operation, the first one preferred. */
  readonly servers: readonly ServerTemplate[]
  /**
   * The security requirements: one of the lists must be met, and within a list every entry. An empty inner list allows
   * anonymous calls. An empty outer list means that no security applies.
   */
  readonly security: readonly (readonly SecurityRequirement[])[]
  /** The JSON Schema of the tool arguments: an object with one property for each parameter, and those of the body. */
  readonly argumentsSchema: JsonObject
  /** The JSON Schema of the body of a successful response; undefined if the document has none. */
  readonly responseSchema: JsonObject | undefined
}

/** A parameter of an operation. */
export interface ApiParameter {
  /** The name of the tool argument that holds the value. */
  readonly argument: string
  /** The name in the request. */
  readonly name: string
  /** Where the value is sent. `querystring` (OpenAPI 3.2) is the whole query. */
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'querystring'
  /** Must the caller pass a value? */
  readonly isRequired: boolean
  /** How arrays and objects are written. */
  readonly style: 'form' | 'simple' | 'label' | 'matrix' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'
  /** Does each item of an array or object get its own name and value? */
  readonly explode: boolean
  /** May reserved characters be sent as they are, in a query? */
  readonly allowReserved: boolean
  /** The media type of a parameter with `content`; undefined for a parameter with `schema`. */
  readonly contentType: string | undefined
}

/** The body of a request. */
export interface RequestBody {
  /** Must the caller pass a body? */
  readonly isRequired: boolean
  /** The media type that is sent, such as `application/json`. */
  readonly contentType: string
  /** How the body is encoded. */
  readonly kind: 'json' | 'form' | 'multipart' | 'text' | 'binary'
  /** For `form` and `multipart`: how single properties are encoded. */
  readonly encoding: ReadonlyMap<string, PropertyEncoding>
  /** For `multipart`: the properties that hold files. Their values are names of artifacts. */
  readonly fileProperties: ReadonlySet<string>
  /** The arguments that are the fields of the body, under the same names; undefined if the argument `body` holds it. */
  readonly fields: readonly string[] | undefined
}

/** How one property of a form is encoded. */
export interface PropertyEncoding {
  /** The media type of the part. */
  readonly contentType: string | undefined
  /** How arrays and objects are written; undefined for JSON. */
  readonly style: ApiParameter['style'] | undefined
  /** Does each item get its own name and value? */
  readonly explode: boolean
  /** May reserved characters be sent as they are? */
  readonly allowReserved: boolean
}

/** A server of a document. */
export interface ServerTemplate {
  /** The URL, which may contain variables in braces and may be relative. */
  readonly url: string
  /** The variables, with their default and the allowed values. */
  readonly variables: ReadonlyMap<string, { readonly default: string; readonly enum: readonly string[] | undefined }>
}

/** One scheme that a request must satisfy. */
export interface SecurityRequirement {
  /** The name of the scheme in the document. */
  readonly scheme: string
  /** The scopes that the operation needs. */
  readonly scopes: readonly string[]
}
