/** The lines of a program's output, each bounded, whatever the program writes. */

/**
 * Takes every line that is not empty; what a line has beyond `maxChars` is left out. Resolves at the end of the stream, or
 * when the reader is cancelled.
 */
export async function eachLine(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxChars: number,
  take: (line: string) => void,
): Promise<void> {
  let line = "";
  let leftOut = 0;
  function add(piece: string): void {
    const room = Math.max(0, maxChars - line.length);
    line += piece.slice(0, room);
    leftOut += Math.max(0, piece.length - room);
  }
  function end(): void {
    const told = line.trimEnd();
    if (told !== "") take(leftOut > 0 ? `${told} … [${leftOut} characters left out]` : told);
    line = "";
    leftOut = 0;
  }
  const decoder = new TextDecoder();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const [first = "", ...rest] = decoder.decode(read.value, { stream: true }).split("\n");
    add(first);
    for (const piece of rest) {
      end();
      add(piece);
    }
  }
  add(decoder.decode());
  end();
}
