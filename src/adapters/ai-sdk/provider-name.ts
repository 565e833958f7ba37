/** Providers of the AI SDK, and their names in OpenTelemetry. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gemini'],
  ['google.vertex', 'gcp.vertex_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['xai', 'x_ai'],
  ['mistral', 'mistral_ai'],
])

/** The name of a provider in OpenTelemetry: `openai` for `openai.responses`. */
export function providerName(provider: string): string {
  const [first = provider, second] = provider.split('.')
  return NAMES.get(`${first}.${second}`) ?? NAMES.get(first) ?? first
}
