import type { Message, PreviewMedia } from '../../../../../contracts/api/message.ts'
import type { MessageContent } from '../../../../../contracts/dashboard/message.ts'
import { Bubble, HeaderMedia, HeaderText } from '../../templates/bubble.tsx'

/** A message as it was sent. */
export function SentBubble({ message, shown }: { message: Message; shown: MessageContent['shown'] }) {
  const { header, headerMedia, offer, body, footer, buttonDetails, cards } = shown
  return (
    <Bubble
      language={message.language}
      header={
        headerMedia ? <Media media={headerMedia} /> : header === undefined ? undefined : <HeaderText text={header} />
      }
      offer={offer}
      body={body}
      footer={footer}
      buttons={buttonDetails ?? []}
      cards={(cards ?? []).map((card) => ({
        header: card.headerMedia && <Media media={card.headerMedia} />,
        body: card.body,
        buttons: card.buttonDetails ?? [],
      }))}
      at={new Date(message.createdAt)}
      status={message.status}
    />
  )
}

/** The file is not loaded, because its host would learn who views the message and when. */
function Media({ media }: { media: PreviewMedia }) {
  return <HeaderMedia format={media.type.toUpperCase()} label={describe(media)} />
}

function describe({ link, mediaId, filename, name, address, productId }: PreviewMedia): string | undefined {
  const location = [name, address].filter((part) => part !== undefined).join(', ')
  return filename ?? (location === '' ? undefined : location) ?? productId ?? link ?? mediaId
}
