import { clients } from "./clients.mjs";
import { handles } from "./handles.mjs";
import { inspector } from "./inspector.mjs";
import { kit } from "./kit.mjs";
import { servers } from "./servers.mjs";
import { signIns } from "./sign_in.mjs";

export const hosts = [...clients, handles, ...servers, ...signIns, inspector, kit];
