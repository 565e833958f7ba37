import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonObject } from '../../../core/base/json.ts'
import { describeIssues } from '../../../core/schema/issues.ts'
import { AI_SDK_SCHEMA, AI_SDK_VALIDATOR, type InputSchema } from './input-schema.ts'

/** An input schema for the AI SDK. */
export type AiSdkInputSchema = StandardSchemaV1<unknown, JsonObject> & StandardJSONSchemaV1<unknown, JsonObject>

/** A Standard Schema, as the types of the AI SDK expect it, that AI SDK 5 also recognises as a schema of its own. */
export function toAiSdkSchema({ jsonSchema, parse }: InputSchema): AiSdkInputSchema {
  // returns the value unchanged: dispatch parses it again, and a transform must not be applied twice
  const findProblem = async (value: unknown): Promise<string | undefined> => {
    const { issues } = await parse(value)
    return issues && describeIssues(issues)
  }
  const schema = {
    [AI_SDK_SCHEMA]: true,
    [AI_SDK_VALIDATOR]: true,
    jsonSchema,
    validate: async (value: unknown) => {
      const message = await findProblem(value)
      return message === undefined ? { success: true, value } : { success: false, error: new Error(message) }
    },
    '~standard': {
      version: 1,
      vendor: 'toolwright',
      validate: async (value: unknown) => {
        const message = await findProblem(value)
        return message === undefined ? { value: value as JsonObject } : { issues: [{ message }] }
      },
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  } satisfies AiSdkInputSchema & JsonObject
  return schema
}
