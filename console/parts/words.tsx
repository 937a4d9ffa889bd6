/** Hands the page's words down to every part. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Words, wordsFor } from "../state/words.ts";

export const WordsContext = createContext<Words>(wordsFor("en"));

/** The words of the page. */
export function useWords(): Words {
  return useContext(WordsContext);
}
