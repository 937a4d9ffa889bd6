/** Where the user writes; while the agent works, where it is stopped. */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWords } from "./words.tsx";

interface ComposerProps {
  running: boolean;
  /** A message to be sent again. */
  refused: { readonly message: string } | undefined;
  /** What has to be set before a message can be sent. */
  missing: string | undefined;
  onSend: (message: string) => void;
  onStop: () => void;
}

/** The field for a message. */
export function Composer({ running, refused, missing, onSend, onStop }: ComposerProps): VNode {
  const { say } = useWords();
  const [draft, setDraft] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (refused !== undefined) setDraft((written) => written === "" ? refused.message : written);
  }, [refused]);
  useEffect(() => {
    if (!running) field.current?.focus();
  }, [running]);

  function send(): void {
    const message = draft.trim();
    if (message === "" || running || missing !== undefined) return;
    setDraft("");
    onSend(message);
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="unseen" for="message">{say("message")}</label>
      <textarea
        id="message"
        ref={field}
        rows={2}
        value={draft}
        placeholder={say("message")}
        aria-describedby="message-hint"
        onInput={({ currentTarget }) => setDraft(currentTarget.value)}
        onKeyDown={(event) => {
          // While a Chinese or Japanese word is being composed, Enter belongs to the input method.
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {running
        ? <button type="button" class="stop" onClick={onStop}>{say("stop")}</button>
        : <button type="submit" class="main" disabled={missing !== undefined}>{say("send")}</button>}
      <p id="message-hint" class={missing === undefined ? "meta" : "missing"}>{missing ?? say("messageHint")}</p>
    </form>
  );
}
