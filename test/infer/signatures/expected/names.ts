import { about, boolean, type ExpectedTable, fields, list, number, object, oneOf, result, string } from './schema.ts'

const track = {
  name: 'trackParcel',
  description: 'Track a parcel.',
  parameters: object({ code: about('Code on the label', string) }),
  response: result(string),
}

export const names: ExpectedTable = {
  getWeather: {
    description: 'Get the current weather for a city.',
    parameters: object(
      {
        city: about('Name of the city, like "Oslo"', string),
        units: { ...oneOf('celsius', 'fahrenheit'), default: 'celsius' },
      },
      ['units'],
    ),
    response: fields({ temperature: number }),
  },
  lookUp: {
    description: 'Look up a word.',
    parameters: object({ word: about('The word to look up', string) }),
    response: result(string),
  },
  'Desk.open': {
    name: 'open',
    description: 'Open the desk.',
    parameters: object({ hour: about('Hour of the day', number) }),
  },
  'Desk.find': {
    name: 'find',
    description: 'Find a desk by its number.',
    parameters: object({ number }),
    response: result(string),
  },
  default: {
    name: 'ship',
    description: 'Ship an order.',
    parameters: object({ order: about('Number of the order', number) }),
    response: result(boolean),
  },
  'drawer.put': {
    name: 'put',
    description: 'Put a file into the drawer.',
    parameters: object({ file: string }),
  },
  'drawer.take': {
    name: 'take',
    description: 'Take a file out of the drawer.',
    parameters: object({ file: string }),
  },
  search: {
    description: 'Search the documents.',
    parameters: object({ query: string, limit: number }, ['limit']),
    response: result(list(string)),
  },
  fromNamespace: track,
  renamedExport: track,
  count: {
    name: 'countWords',
    description: 'Count the words of a text.',
    parameters: object({ text: string }),
    response: result(number),
  },
  'shelf.look': {
    name: 'look',
    description: 'Look at a shelf.',
    parameters: object({ row: about('Row of the shelf', number) }),
  },
  repeat: {
    description: 'Repeat a text.',
    parameters: object({ text: string }),
    response: result(string),
  },
  bookRoom: {
    description: 'Book a room.',
    parameters: object({ room: about('Name of the room', string), seats: about('Number of seats', number) }),
  },
  rentCar: {
    description: 'Rent a car.',
    parameters: object({ model: about('Model of the car', string), days: about('Number of days', number) }),
  },
  rentBike: {
    description: 'Rent a bike.',
    parameters: object({ days: about('Number of days', number) }),
  },
  nearestComment: {
    description: 'The comment of a property is nearer than that of the function.',
    parameters: object({ size: about('From the property', number) }),
  },
  inlineComments: {
    description: 'Describe parameters where they are.',
    parameters: object({ first: about('First name', string), last: about('Last name', string) }),
  },
  sendLetter: {
    description: 'Send a letter.\n\nThe letter is printed first; see trackParcel and the manual.',
    parameters: object({ copies: about('Number of copies', number) }, ['copies']),
  },
  ping: { description: 'Take no arguments.', response: result(string) },
  whoAmI: { description: 'Take the context only.', response: result(string) },
}
