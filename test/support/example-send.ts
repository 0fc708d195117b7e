import { sendMessage } from '../../contracts/api/message.ts'

/** The documented example of a send. Its type says that it has a number, which the client asks for. */
export const exampleSend = { ...sendMessage.example.input, to: '34600111222' }
