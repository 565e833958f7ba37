// The tools that the conformance scenarios call, by the names they expect.
import { type Tool, tool, withParts } from 'toolwright'
import { z } from 'zod'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='
const image = { inlineData: { mimeType: 'image/png', data: PNG } }
const note = { inlineData: { mimeType: 'text/plain', data: btoa('This is an embedded resource content.') } }

const simpleText = tool({
  name: 'test_simple_text',
  description: 'Returns a text',
  effect: 'none',
  run: () => 'This is a simple text response for testing.',
})

const imageContent = tool({
  name: 'test_image_content',
  description: 'Returns an image',
  effect: 'none',
  run: () => withParts({}, [image]),
})

const audioContent = tool({
  name: 'test_audio_content',
  description: 'Returns a sound',
  effect: 'none',
  run: () => withParts({}, [{ inlineData: { mimeType: 'audio/wav', data: WAV } }]),
})

const embeddedResource = tool({
  name: 'test_embedded_resource',
  description: 'Returns a document',
  effect: 'none',
  run: () => withParts({}, [note]),
})

const multipleContentTypes = tool({
  name: 'test_multiple_content_types',
  description: 'Returns a text, an image and a document',
  effect: 'none',
  run: () => withParts({ text: 'Multiple content types test:' }, [image, note]),
})

const errorHandling = tool({
  name: 'test_error_handling',
  description: 'Always fails',
  effect: 'none',
  run: () => {
    throw new Error('This tool intentionally returns an error for testing')
  },
})

const withProgress = tool({
  name: 'test_tool_with_progress',
  description: 'Reports progress',
  effect: 'none',
  run: (_, context) => {
    for (const progress of [0, 50, 100]) context.progress({ progress, total: 100 })
    return 'Done.'
  },
})

const streamingElicitation = tool({
  name: 'test_streaming_elicitation',
  description: 'Asks for a name',
  effect: 'none',
  run: (_, context) => context.requestInput({ key: 'user_name', message: 'What is your name?' }),
})

const elicitation = tool({
  name: 'test_elicitation',
  description: 'Asks for information',
  effect: 'none',
  parameters: z.object({ message: z.string() }),
  run: ({ message }, context) => {
    const schema = z.object({ username: z.string(), email: z.string() })
    const content = context.requestInput({ key: 'user', message, schema })
    return `User response: ${JSON.stringify(content)}`
  },
})

/** A tool that asks with a form and returns what the user entered. */
function form(name: string, key: string, message: string, properties: Record<string, object>): Tool {
  return tool({
    name,
    description: 'Asks with a form',
    effect: 'none',
    run: (_, context) => {
      const schema = { type: 'object', properties, required: Object.keys(properties).slice(0, 1) }
      const content = context.requestInput({ key, message, schema })
      return `Elicitation completed: content=${JSON.stringify(content)}`
    },
  })
}

const defaults = form('test_elicitation_sep1034_defaults', 'profile', 'Check your profile', {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
})

const options = ['option1', 'option2', 'option3']
const titled = ['value1', 'value2', 'value3'].map((value, at) => ({ const: value, title: `Option ${at + 1}` }))
const enums = form('test_elicitation_sep1330_enums', 'choices', 'Choose', {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
})

const name = { name: { type: 'string' } }
const ok = { ok: { type: 'boolean' } }

const multiRound = tool({
  name: 'test_input_required_result_multi_round',
  description: 'Asks two questions, one after the other',
  effect: 'none',
  run: (_, context) => {
    const schemaOf = (key: string) => ({ type: 'object', properties: { [key]: { type: 'string' } }, required: [key] })
    const first = context.requestInput({ key: 'step1', message: 'What is your name?', schema: schemaOf('name') })
    if (!first) return
    const message = 'What is your favorite color?'
    return context.requestInput({ key: 'step2', message, schema: schemaOf('color') })
  },
})

// a hand-written tool: its declaration is sent as it is
const jsonSchema: Tool = {
  name: 'json_schema_2020_12_tool',
  description: 'Tool with JSON Schema 2020-12 features',
  effect: 'none',
  declaration: () => ({ name: jsonSchema.name, description: jsonSchema.description, parametersJsonSchema }),
  run: () => ({ status: 'ok' }),
}

const parametersJsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const customHeader = tool({
  name: 'test_custom_header',
  description: 'Has an argument that requests repeat in a header',
  effect: 'none',
  parameters: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  },
  run: (args) => ({ received: Object.keys(args as object) }),
})

const reconnection = tool({
  name: 'test_reconnection',
  description: 'Can be read again after the stream broke',
  effect: 'none',
  run: () => 'Reconnection test completed successfully',
})

const logging = tool({
  name: 'test_logging_tool',
  description: 'Sends no log messages to the client',
  effect: 'none',
  run: () => 'Logged to the operator.',
})

/** All tools of the conformance server. */
export const tools: readonly Tool[] = [
  simpleText,
  imageContent,
  audioContent,
  embeddedResource,
  multipleContentTypes,
  errorHandling,
  withProgress,
  streamingElicitation,
  elicitation,
  defaults,
  enums,
  form('test_input_required_result_elicitation', 'user_name', 'What is your name?', name),
  form('test_input_required_result_request_state', 'confirm', 'Please confirm', ok),
  form('test_input_required_result_tampered_state', 'confirm', 'Please confirm', ok),
  multiRound,
  jsonSchema,
  customHeader,
  reconnection,
  logging,
]
